"""The words with which a question is answered by yes or no, as parts of shapes."""

YES = r"yes|yess+|yeah|yep|yup|yea|ya|indeed|correct|absolutely|definitely|of course|i am|i do"
NO = r"no|nope|nah|never"
