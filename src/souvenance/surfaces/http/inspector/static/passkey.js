// Forms with data-passkey: fetch what must be signed, let the browser sign it, send that with the form.
"use strict";

const TROUBLE = {
  InvalidStateError: "This device has a passkey for this place already.",
  NotAllowedError: "No passkey was used. You can try again.",
};

async function asked(form) {
  const answer = await fetch(form.dataset.passkey, { method: "POST", body: new URLSearchParams(new FormData(form)) });
  const answered = await answer.json();
  if (!answer.ok) throw new Error(answered.trouble);
  const options = answered.publicKey;
  return options.rp
    ? navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options) })
    : navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options) });
}

async function send(form) {
  const button = form.querySelector("button");
  const trouble = form.querySelector("[role=alert]");
  button.disabled = true;
  trouble.hidden = true;
  try {
    form.elements.response.value = JSON.stringify((await asked(form)).toJSON());
    form.submit();
  } catch (error) {
    trouble.textContent = TROUBLE[error.name] || error.message;
    trouble.hidden = false;
    button.disabled = false;
  }
}

const usable = Boolean(window.PublicKeyCredential?.parseRequestOptionsFromJSON);
for (const notice of document.querySelectorAll("[data-no-passkeys]")) notice.hidden = usable;
for (const form of document.querySelectorAll("form[data-passkey]")) {
  form.hidden = !usable;
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    send(form);
  });
}
